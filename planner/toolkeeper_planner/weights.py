"""What do the parts of an uncommon word add to its price?

Weights in tokens, fitted to the real vocabulary by `bench/token_tables.py`; never
edited by hand.
"""

# ruff: noqa: RUF001

from typing import Final

# a weight is one character: its place here, from the middle, in 1/32 token
_LEVELS: Final = (
    "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
)
_MIDDLE: Final = 46
_WEIGHTS: Final = {one: (at - _MIDDLE) / 32 for at, one in enumerate(_LEVELS)}

# script, case, length and first sign of a word
STYLES: Final[dict[str, float]] = {
    "block 10-none": 0.01,
    "block 10-sign": 0.26,
    "block 10-space": -1.24,
    "block 11-none": -0.62,
    "block 11-sign": 0.03,
    "block 11-space": -1.13,
    "block 12-none": -0.46,
    "block 12-sign": -0.11,
    "block 12-space": -1.0,
    "block 13-none": -0.77,
    "block 13-sign": -0.12,
    "block 13-space": -0.95,
    "block 18-none": -0.07,
    "block 18-sign": 0.4,
    "block 18-space": -0.82,
    "block 19-none": 0.04,
    "block 19-sign": 0.53,
    "block 19-space": -0.67,
    "block 20-none": -0.55,
    "block 20-sign": 0.43,
    "block 20-space": -0.98,
    "block 23-none": 0.25,
    "block 23-sign": 0.99,
    "block 23-space": -0.45,
    "block 24-none": -0.21,
    "block 24-space": -1.09,
    "block 25-none": -0.12,
    "block 25-sign": 0.88,
    "block 25-space": -1.04,
    "block 26-none": 0.02,
    "block 26-sign": 0.18,
    "block 26-space": -0.76,
    "block 28-none": -0.91,
    "block 28-sign": -0.33,
    "block 28-space": -1.22,
    "block 32-none": -0.65,
    "block 32-sign": 0.05,
    "block 32-space": -0.67,
    "block 33-none": -0.14,
    "block 33-sign": 0.19,
    "block 33-space": -0.8,
    "block 34-space": 3.45,
    "block 36-none": 0.16,
    "block 36-space": 1.38,
    "block 37-none": 0.41,
    "block 37-sign": 2.55,
    "block 37-space": 1.5,
    "block 38-none": 1.28,
    "block 38-sign": 2.28,
    "block 38-space": 2.38,
    "block 4-space": -0.77,
    "block 47-none": -0.63,
    "block 47-sign": -0.24,
    "block 47-space": -0.93,
    "block 6-none": 0.25,
    "block 61-none": -0.23,
    "block 61-space": -0.03,
    "block 62-space": 1.17,
    "block 7-none": 0.43,
    "block 7-sign": 0.53,
    "block 7-space": -0.39,
    "block 8-none": 0.29,
    "block 8-sign": 0.46,
    "block 8-space": -0.41,
    "block 9-none": -0.11,
    "block 9-sign": 0.47,
    "block 9-space": -0.51,
    "capital-none": 0.09,
    "capital-sign": 0.17,
    "capital-space": 0.35,
    "han other": 1.01,
    "han rare": 2.24,
    "han simple": 0.74,
    "han-none": -0.86,
    "han-sign": -0.54,
    "han-space": -0.79,
    "hangul common": 0.19,
    "hangul rare": 1.8,
    "hangul-none": -0.37,
    "hangul-sign": 0.44,
    "hangul-space": -0.56,
    "latin-none": -0.07,
    "latin-sign": 0.19,
    "latin-space": -0.33,
    "length 1": -0.62,
    "length 10": -0.37,
    "length 11": -0.39,
    "length 12": -0.37,
    "length 13": -0.35,
    "length 14": -0.21,
    "length 15": -0.39,
    "length 16": -0.17,
    "length 17": 0.11,
    "length 18": 0.27,
    "length 19": 0.95,
    "length 2": -0.55,
    "length 20": 2.2,
    "length 3": -0.38,
    "length 4": -0.32,
    "length 5": -0.26,
    "length 6": -0.28,
    "length 7": -0.3,
    "length 8": -0.32,
    "length 9": -0.36,
    "mixed": 0.05,
    "short form": 0.5,
    "sign '": -0.03,
    "sign (": -0.06,
    "sign +": 0.46,
    "sign ,": 0.38,
    "sign -": -0.01,
    "sign .": -0.34,
    "sign /": 0.18,
    "sign :": 0.29,
    "sign <": 0.26,
    "sign =": -0.66,
    "sign >": 0.72,
    "sign @": 0.13,
    "sign _": -0.03,
    "upper": 0.1,
}

# what an estimate of a script's words is multiplied by to lean to the dear side
MARGINS: Final[dict[str, float]] = {
    "block 10": 1.2,
    "block 11": 1.09,
    "block 12": 1.12,
    "block 13": 1.18,
    "block 18": 1.19,
    "block 19": 1.2,
    "block 20": 1.17,
    "block 23": 1.17,
    "block 24": 1.19,
    "block 25": 1.19,
    "block 26": 1.2,
    "block 28": 1.2,
    "block 32": 1.17,
    "block 33": 1.26,
    "block 36": 1.17,
    "block 37": 1.16,
    "block 47": 1.16,
    "block 7": 1.09,
    "block 8": 1.14,
    "block 9": 1.18,
    "han": 1.07,
    "hangul": 1.04,
    "latin": 1.11,
}

# a common word behind a sign that is not a space
PREFIXES: Final[dict[str, float]] = {
    "'": 0.58,
    "(": 0.22,
    ",": 0.93,
    "-": 0.48,
    ".": 0.15,
    "/": 0.74,
    ":": 0.64,
    "=": 0.44,
    "_": 0.29,
    "{": 0.58,
    " ": 1.61,
    "’": 0.27,
}

# letters of all scripts but ASCII and Han
_LETTERS: Final = (
    "ßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉčďđēėęěĝğģĩīįıĵķĺļľłńņňőœŕřśŝşšţťũūŭůűųźżžơưșțəɛɣ́̇͡΢άέή"
    "ίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώабвгдежзийклмнопрстуфхцчшщъыьэюяѐёђѓєѕіїјљњћќѝўџґғҗқңүұҳҷһӕәӟ"
    "ӣӥӧөӯ՝աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև։֊־אבגדהוזחטיךכלםמןנסעףפץצקרשת׳،؟ؠءآأؤإئابةتثجحخ"
    "دذرزسشصضطظعغػؼؽؾؿـفقكلمنهوىيًُِّٓٔٹپچڈڑڕژڤکڭگڵںھہۆۇۈۋیێېے۔ەँंःअआइईउऊऋएऐऑओऔकखगघङचछजझञटठडढणतथदध"
    "नपफबभमयरलळवशषसह़ािीुूृॅेैॉोौ्।ঁংঃঅআইঈউএঐওকখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহ়ািীুূৃেৈোৌ্ৎয়ਂਅਆਇਈਉ"
    "ਐਓਕਖਗਚਜਟਠਡਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵਸ਼ਸਹ਼ਾਿੀੁੂੇੈੋੌੜੰੱஃஅஆஇஈஉஊஎஏஐஒஓகஙசஜஞடணதநனபமயரறலளழவஷஸஹாிீுூெேைொோௌ்ంఅఆఇఈఉ"
    "ఎఏఐకఖగచజటడణతథదధనపఫబమయరలళవశషసహాిీుూెేైొో్ಂಅಆಇಈಉಎಒಕಖಗಚಜಟಡಣತಥದಧನಪಫಬಭಮಯರಲಳವಶಷಸಹಾಿೀುೂೃೆೇೈೊೋೌ್ೕംഅആഇ"
    "ഈഉഎഏഐഒഓകഖഗങചജഞടഡണതഥദധനപഫബഭമയരറലളഴവശഷസഹാിീുൂൃെേൈൊോ്ൗൻർൽൾൿกขคงจฉชซญณดตถทธนบปผพฟภมยรฤลวศษสหอฮะัา"
    "ำิีึืุูเแโใไ็่้์ကခဂငစဆညတထဒနပဖဘမယရလဝသအါာိီုူေဲံ့း္်ျြွှ။აბგდევზთიკლმნოპრსტუფქღყშჩცძწჭხჯჰሁህለሉላል"
    "መማምረራርስቀቃበቡባተታትችነናንኛአእከክወውዎዘየያይደድገጋግጠጡጥጨፈកខគងចឆជឈញដឋណតថទធនបផពភមយរលវសហអឬឯាិីឹុូួើៀេែៃោៅំះ៉៊់៍៏"
    "័្។ḍḥṛṭạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹὸ々ぁあいうぇえおかがきぎくぐけげこごさざ"
    "しじすずせぜそぞただちっつづてでとどなにぬねのはばぱひびふぶへべほぼぽまみむめもゃやゅゆょよ"
    "らりるれろわをんァアィイウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチッツテデトド"
    "ナニネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロワンヴヶー"
)
_LETTER_WEIGHTS: Final = (
    ",QYLKITPJIIIZPHVZVGQLJQJR^UBRTLWYMWTUaNV_S[aWu]OjLah|^a^WW^VN~YYwOYUf_^TVdYcUVQGhXQO~FX}~MNPM"
    "~Kc]YJcLXOQSRVfJTSM[QS^XmV~~MOSINPRMGPPJNNPNKINKJLLYOPPRZcKKMPM~^v~d~VXbzuyz~^~~OhWMP[SZY~O~c"
    "{~ST}HXTXOZlYOBQLO<SISOENPNMKXW@NYQSDDANQLdRj}uPQ`TNN_Y]J]VQRUYTWRjXlY]TSPa^b~_^SeSVKQIOZUTTP"
    "WOUQUTXQWO]~~~~~gSRUMOORPXLKlpisQZRTfSie~T[SlGUTqY_SRthMad[EZQPNTEYpM`WOWQVRcuWTV`AVYZTSRQSMP"
    "T^RMNMLQ_TRHNMQKGLJPL~KUPOWF_[PiQMS|TNsZJINQTOIRPIXK[MQIGJQJH[LRNFKNIBNLUKLRPMKKTOrJ]PN^[bbmo"
    "~RWTZa[~]QWkWv^ViigW^VX_ZVGNLNRbXX`ao_OP~Z[RfSuUec[fQKUZlMQMNOPQRQHIKPMrjkQM]MXVRRW`~FJedPWFM"
    "b~Rd`S]`WfLpX_O^vSTYR]_WNxZiIEQHTRNdSM?G]b`QlPSUWUBLURHO@KZLWjTDHQKLNSSOZQTKdM_DWYoRcpG[HWNLF"
    "UEbabeHrUH>QGH[FN^M5KIc_LJQROSM_R>XV]VMcKYjK[Yh`I{W]TL~UPHH_wXeJqOXTRMHP[;XgSDLH#]G`XWUV~>KOG"
    "WUKHTLX[ZuLNBBRbT~?_[gicjalj@UgLrl^fvOZqCI6MWfAd=ALnKnOMOMDL[RKVGGPNRNM[RZInCTZF?X}KWN~v{qu~~"
    "xq~u~~fy~dy~~{rg~~l~mg~h~z~~jwwtl~usRVKr^;lOWRE~dL~hViU^LH~PeSb_TDUgLmCQYGTSaFd~cm2R7UO^]c~~V"
    "@b~s^~NLQPVWOVATdM^flOPNKN[LIUQ_YeQZZMjXYd[UYMNh~a[WzwYdf|xymlm~b~x~_^PM_sZtRtc~h]h|f~fhgnin~"
    "~mlwD~~{~q~q~~[ngnjbz~~zqjfmnnvcgbhb^tOqJuxsy{^atcy~cbroeibu}xeyqZ{^b][{u~z~|k~nvel^vlN`~{npg"
    "qmWvSZO~mmfpqx`~Z_"
)
LETTERS: Final[dict[str, float]] = {
    letter: _WEIGHTS[level] for letter, level in zip(_LETTERS, _LETTER_WEIGHTS, strict=True)
}

# runs of three letters, by slot
_FRAGMENTS: Final = (
    "YXhjiq]_]agh~gZ_][ZeXX=rXfcbffJ]^Wb_]igZ[gddgUgeXi^_eg_rlKdKUWgZehZWVaaTU_]batqml^WhZP[gXl_`o"
    "_^~YSca_ebO`eabiTaa`da_ZZZ[`hUiZuOk_s]`Xhdl]PZXX]X[[iecS]uZZ[^ZfYRXcgPVV^OW[cjaZ_ZcYg]Veojae_"
    "deZJ]XXYU0VcbZbZbYZdSZ^aY[XYdO_`X[dQW^f]aRc[PXsfifhZY^`hU`SZi`[f_{ZoW]bo^_[_bmUYj[kS_f[^d_XdX"
    "]ea^`h[_VbUZanebmb[VXoP[rU`dXjidahWTeW_bpn[m`]]lZiWaWU]b^ivQegZOeabXTaYU^Z[OXSSUWXeZ[][VaYSS]"
    "WjaVb`VQ^SjXWdf_TiO_mg[]g[eQXW[W]]T]Wkcb^iZqVd^[icU[Ym[pWb^]U]TN~Ud^_[TPcXPfRjbdW`aeTX]pXlkeg"
    "gZcdU]uW^X^^^[`]WPRWjZIR^^V[ZYbWTj]We]^``f_N^jKWgXjWOa_T_e[WXf`fna]c[^fgbMM`adXd`[bZgZY_g[UYb"
    "Z_pa[iihda^e_Ug[if_d]fXVW_c^qm[]iQQfY`if]Vbe[daUiccYdQo^b]XdYZXN`[TVXQiTezcUMZQ`Ul]ej`[[``db["
    "mUSaYUXb[_]YcrW^`]W^dYeK]WJmPWkeaS_dsa_be`ak_`[ehgW]dbb`achS^[ele]_dSlaXPRNZ]]_XZc[UjCMe`Zjje"
    "Zp^Y^m]y][`X`dh^U`VpX`XZhp`VU``_`Wg]dm`g^kVUYU|^]o^]_gSa_hcYhb`WjSa]^Y_WjNUa_`_ibY_Z`]RY_qXd^"
    "TbbU[Ylc_^[bbf`Zb]j]WTZdfUY[oceZWQt][Xe]iJ^ZVdd^cm`lc`m_`ZarVOXZVN^fhUeVcPZUTV`Y]j^_c]W`dMYbg"
    "mUn^bmWVaXjfj`_^Sh``W_f`]zd[`ahad^`da]Z_`]bTTOiVR_`URdSdfW_fZVa_daQbf]XcSZaZ`Z_]idZfWV[WZbec]"
    "XaeemfXh[fahgX__bZbWa[VaVdXV`g`QVhVSZ]Y[XMW^^_d_e[[daep]ZsnfV[RZUWVZXYU]^^[Wbm[kbsdZ_dZUi_YYR"
    "Ye]aT`aebjmgkmZg`i_bjdVU^RRQX[mf_f^`_WT``fe`vedg]lOYfLk`WftZej[d_Yba_hSWZV^XMcUWiVYbW[`V`c[a`"
    "UX]^f[cbZ^^__]YUc`[YUWXfYZafc`deadulOeYbVkQl^b]ia]XcdbWhgfbVdXZ`nfEPg`]dZbZbd`m^UXdgXdckXdUTR"
    "ebcXgVW[bb]PT[fVZ[^VWfQOYYLee_RX^ZXpaPf^V]_b`^DZiOor_~YYXOe[T`dXeaZXde_WW^ce~QMce_XdZ^edXbc^j"
    "Sf]XZZcVkUgkd^bZVT]bc[^`afUXYeU^dXujhW]_caibtgadY[X^TR[_U~UmlUilXZXjbVSWTckW]Y[XZS_ZPXZeYMdXU"
    "o`ZtZbf]_`[_WpYtjagcg]iijfbYdZfXXZ[_]f]bc^]f^[Zb]ecj`dRPVaL^dYkX[X`^^]V`ZUd`ahXddfZ]eceWoOVzf"
    "^jh_hfW]dQhWXkYRMT]XaTTtS_sUdkU__VaaUf_b_ZWvYeWeUkf`a[[d_dddMleS[c_Xa[l^a^ec_]l_qUTaa_vVoP_]V"
    "_Yc^]eac_cheMg]`WV^c_agZTkY[QViWV`hhXE_d_dZ[kej`UaphYXe^jX_X^cbZ]uaeVZYWa^[]Y`jWHiZYVmVWZfW[g"
    "YToXal]TbW]dVbXaDcO``U_YWf^_`_e[Xf^UaWhj``uZWmg`i^`]TueU[gVe]XdIWgR[cdeiUWb[ShRfgXUYZagjZ][Wh"
    "nVk]knXdXh`^eVUfUYU^Z`WQ^a_NOj^fTnbYXdWl[^V^UdT^lSQ`nRiY~``TUSbg]T^YSQY[cd_tZYgW]b`a[paTjY]fa"
    "N[a[Y^caad_`cV^eZ^f^jfh]XS_ZbWbY^_hicSc`g``xcidRbkdXUWUDZcgeYc]ZlTgZUZXYadb]L_W_jVe_XX[dZgbWZ"
    "[`]Wg_[dX^iZYXe[oa[bd_^jZd_]dWQ_b___e_x[VqWh`_e`]efZd[Z]]b]YbZV^]]lTh_nPa`cZ^VY`hajYYTdnbRhcZ"
    "^ahiQclk[WbUZ]]N_Za`Z^f^_]UfbiLSk[XdUU^`Vfh[Y]Tf[]gWhmcQejQfYVf[e`_PWdQWYTi[]cOcrqjetUPaWZ[Uk"
    "eYg^[]``UtZXQ__bNoXUeVZfXW_gbb_YVaUn`gi[{VeiNabe`XmG[oZY^:j`SXWbXiY`WR_aZeRUcR[^Ynb]n_]d[Sbdk"
    "a[_ae^Yl^fXp~SeXXs[kVhRViiP]Wd]dgQn[Y_d`_^jhc[ed_d`a_Rc_XgT^ZST`ZT`W[S_`dmYgVWjYic`bebbYvcW`d"
    "j^`fXeWZ]sXW[ZWiYXiPkTL`]^`YWV[]eYwZdV]d`XR][Rd[bYaYcTUlcdgWagida``]Z`ZQg_R[b_ef=djU_bbedalbg"
    "YjWfta`^xQ]QRav@cf[fZ_VdpgO`^X]c]]gn[sbitZ^WgaV]jbamemj]mYdGYmdTpV^lQTrYVQVdUV]VihXeY]ib]df^o"
    "_XlbTf]caYalX][[VbV_HZRh`c^gZgbX[W`gGTb[^]mU`k`eebTbdigX^[a]aeTfWcll^`QXbXca]TX]R[JpeT]T_i_]f"
    "dmXhlbZXd_ehhdagZXXWYWZbYXeJYWdeSY]cg_e[TQQdV]cYf^bc[Sm^SihXcdeaVh^ZgF_iXlXh^b`^YT_f[]R[df]Yc"
    "XpQkWX[]UhU`]lcgko_WU_U[d]Rg_NWT^gPSfi``h`aeivigaljYP_Q`Uif_[]UYX__TQkbZ`YQbbgW[aX_aW[eT^Ua_e"
    "ZlYKg]_gNffgYdfXeXk~iR_aRa]XlZ_ediWa^YcYe_^c[dPcT[jXeZY_agdTU]bSoUY]aUZef^XQeVacUW_T`dkj`nfhc"
    "eZ_P^X[VkTX_O]f[YXbhUWWXYbXfh`YSaaiZZie]T`]X^easaP_[_lL]aYZ[agS]ZS`XbRgV^Za^ckle`U^_W[an_X[^Q"
    "VW[^`UkaZbf`Ydia^mbZh_SjYfPaXi^aZa[_^^fd]V[hd^_gXXdZaH^cZa]Z_]Z_[]TbkZ[eZ]hX_SS[VZ`^]`Y`WihoZ"
    "jZfl^ejTVUpPX[^^YQ[_]c^cbbZcXaS`dwX`YnROvZbi][e]gOTiabjaYpZ[lcdYZYXdSjjWW[caYghhQ^kaYhfYp`be["
    "XMYT`VfgXZbUadYYga_X]hWY]XfcY[UsS]``lffabZWu_ifXYinWbSW_UUg[Zd^[`YTiSliaWTKcThc]YWmgVjU]ji_cZ"
    "h`iX`baciYlac`k]^]djYal]h]d^eXZb_`]^b[^c_YfYfUTb_bgUURZbZW]VUVbLVSZZZ]XU[`^cY[`ZrUXaadaWJ[NWe"
    "e[eRgd[^^VbXf[ce_[VmYfwceb]e^aYVPj[U]Z`[^c`hKjaZghi_dPubs_Y`Za`afVWZaR^XZaUYiaa]nnYg[`WtW]a`^"
    "cZbjZRlgaU`YXad_Zk_PYX_VScYZg]`qb`bWT_]hYdg_da`RpSU^V_e^XadO]f_`l]bhaa`eo^clS^_b[_W]flahnWbZc"
    "b^^akchb[bj[Zzij`X[WdikXW[Vd`hmYg`cXXfXarY~]ugdajn[dQ]XdYbiQWTX]`^Tv[ZZcgnR`[`X]cjj`dbVU~[aa^"
    "X_V`cggdcY[[Wc`jUVnY`cMtbkTk]^WanbYt`abVXa_ZhYc]`ee_``e_[`eZbe`Una^eg[ZbW_]X_`UL[S][baNZff_ke"
    "mPsjYdZ][XcnUPQTg[ZTYS_Z^gX[Uik`VYX^Z__g[aZ^_XWw[Qg_e[Zg`fO`_ZhTa]k]^^_`^ik^^`~]m^Wfq[X`]ghda"
    "T^WXVVYWbRedYS__R[VlZghig]iaTp^fX[_h^c`wWhbeeif[Y_]X`_Kii[ce][s]bVWR[_^bVYrfXW[VYV_R[[ncZZi^U"
    "]WWcj`cY^bW[c^cSb`Sc`ZYekXe^r[]ZiYfT[caZVVxMZ`o`c_VgYYc^hhPeii[bZYgb]e^cl[~ZWYi]^gRpRQW]ZSZks"
    "idY]c^YdMpUScS[~UeaQ^jRg`_bP^boQ[e[[SWaL^b`Zr[o]Nab]_hb^ZWjXYZ`TW^aZlF^^bod^nN[qib][Z`g[WXUSb"
    "[YkbdscciWg]`Y`X^coS[_fZWWW`uXcdbTb]``T^bifg`f_XqVXiTYaTccWUW[fU`]_]WZ^R_OfcY[S]Z`fe]VTZVihXR"
    "_ZUX^__Ri[]rOY]gjacWg]`ZcMRbMKRcf|]WThXiUlfZXbia^ffSXaYdd]sgg]aVRgXV}hWV[[Zi`XVVcdfjPd_gdTjt]"
    "fbe[]dhXRPadkQRia]YVTgTiUa[W]Zhca`]S^VVOPmik[XmXe[Zk]d^`XfaZbfPfXhn^fRdRcf`JVcRpX[WXbS]hlZ[aT"
    "gaRf]hc[^eSUdXd]XYZmYbRRWb^RW]]egzQ]bWeY^caRtYe`[e]Slm^h`Zf]aeVVRjU[ZaPbVPkYVidadUNTcpfS^`cl`"
    "miSU^aa^SVYV_`oV[[dkZdk[]bX^wVVZacb][fb]^fUR[[`ShedaVrXkVZq^jfZ`f[__blS]aXReeVXS[fZbM[`[dV^d_"
    "nfbVSpkW1[fjbYWQmO[^T[_X[fb^WW_Yk]Z_cVT[]k_Yh_ScWZ_aWaWZkZVb`Z_VdocQZXqZ]p_Yggeb`ga_TZgXfkPdn"
    "nft^[b_Rb_[b_^dN^d_W[[jlTdcbecYS^YeoX^ThXdY_Ua]``bjRi]f^XnS^tVfVVR^X_W_XgjUWZ[keWe_heaXW^Ttba"
    "fYPe_Rpbbf^iYcZV]ook^i_TYciTc_c^fesUbMSQZ^VW_^c]Z[eY[Z_h_pRii]SiT[aZSZUdfbH_VRUSfVj^hYeohUhfg"
    "`^gaUXX~Ma`RVc~WYbgbU^Vg[dee[Z^]aZWke^ZiSYb_e^k^zZa[fnWdXX^U_ag_ZXh[Xf^^`V_b^ZbaNY]k_hfcSTYQa"
    "ig]]b_jmWifofj[gW]h_P_hQSnbnP^V`aTd___ldnp^]TbNmksbY_cYf_Wae[a`aS^_WTZ_[]Z[mhYYUUeXgZMsZZigZa"
    "dYhf_jW^bpTm`]YbUlhY`ah_]a`m_f^_YU`l[bY{^[aTYebokeYVjZhaa`aZlT^hXZ^N_dXX]XT_a[`c_cQa`gZfgS`iX"
    "eUQX[R^[`bZXZWL_Sb]VgWddR^^XXXYXUYZYWXYa[SwgZ|_eZck_f[XZXd[WRaW`_Tf^cjbnZfcuYZ`S^a_Y^XYWdZ[_j"
    "]^VojaZRb`[afahPVZcYR[Oe[`aiV[_UQj^aSmnhhYhWZ_W^Y_^fiZRc^ZTZlVbbWa`Za[ZZR`_f][Yt^Tjl]]VR]mM_a"
    "Xj]d^dUjLB[mZnVX^aZ[YdcTch]tG]XWe^Zo_adb][cf`T^TVkb[Jp[c`ajSX_jcmVUd_j^jiX^nbWZVe[e^ilcN`^Te^"
    "e]ciTbbeOPTT]VZQWi^cSPkW^^SZVVi`]eY_ZcQ_V`VQor~qjdndXZWd^ahX]ZXccaZB`Yck^OM_hQ[]Zh[ZV[Zoaf]fo"
    "^fp[jd][V]]VVZkVd^UP`a[mUefh[bY^_lieVM`fWaakbaddc`V[XZhS`gPbnba]Z_]b]`]]Yc^NdWa_XZqf`YhkcNZZR"
    "o[_VS]jS^e_]Mm^l_U^[9^Vi^cSZY^XgWa`_`f_gqWvdf[^cOt[dcejUT[^ikXg]dUUaQXU[O]YcS`_]_bVU][hii_cjY"
    "UPclr[`xbchea_WWZUcU]VX[^h[VZY_^bXjaUWV_S[RfV^eYj`lac[^kfjkgUubXoeeb[Xdt]_Zi4p^ZXYWk]YdXnc^]b"
    "hj]bRYOf]T`eXc`gkbK^cWeT]XOUTZlxU`bWaZefj`gh_``_j]brRkaZaZ]hVOYV`]UYVc[ScV^`YYmTgjYt]ah[WkXW_"
    "jdub_^N^lV^n_YqXeXdTV^`qSgQYi[]heY^gfa`_U^acVYZNXg[kZbc]a^OQZmvQfpTV}[M[XtQXh`VW^ccgehfjY_]Z~"
    "UdOZXb[a`YYbQYg[Wn`d^S[UdacdZ`^fSkcW[_Ti`c[U[_cUgb_pZObWad[S_ZZWYXa]]]]Zdn`ci`j`]eVdPlOSZUfS^"
    "ZXZeW^prbgr_XZWeZaZaXfY^_W`Y]Zbbkb^XXbZiXRmRl][Wec_TDaki_]xTZlYZ]`f^``UVSfSafbV|T^ifSf^SnZZl_"
    "hl``iZk_VjjaWXdpdnWRZhi]ZSbdUY]T[dbqZ]bYf]b[`bPa]coVXNf[Vef[chgX]_i_`^dRbj^kXebb`Yb]tZcS`~cba"
    "bW``Xe[YcRcdV^`^U_bXX_UVUV]W[[Y[]_ShnTY[Zk[a`X[WWoRbZi^tXo^bhT]YYI_UTeac_cZ^kYiTU`^[b]mVdlVgv"
    "cdZiaSfqooebYSYT_`[_jSuYZbWVabo`nYccUi_ZbdadWgYgdm`b]bWP_`f[mXbX]kSVUW[dWaXj`V`ac[YZhY^nWQ^X`"
    "gQVbc]Z]dR^YU^ZO^_cp`dY^VfU[VW^hY[Xabja~W]gibcn_hPYf[cZVZShV^a_]a]qi^mL[ZV]WYaWUmeb[Ws]`bY`Za"
    "lgfEO]ZeZUiU[_TcQY^NhYjY[Tm[Rl]`e^jhXkcPm[cc^_hlX__YjQfbfiT]h`Xde[Zg]XUYbv`^b|_Wghdc[Wi[Rd_Ng"
    "UkWlcfc`c^ZeV^Sg^lUra^UW[aeW[ZaU^ZpgSYgYbbalfbV_bCm[dS[RPe[RVakSP_^^W`fa`ZfYUXj]amcbkV``ZtaUQ"
    "Y[ZaSm[Uqb_^bVfeUemTbRZ_SZmccnjb^^Z^]X``]U`X_VFfWa[RWg_egfVR[e_[^_][Va[YeZ_QQbZaie^jl_ddUctga"
    "aYh^bV]VZqRbTYj^XV[V]se[Sacagbed[eW`^[dV`VkXZfTEQVYoO[oSWn]`tXQ][TU[n`hxTKaZx[ad_`^^^U_obadcU"
    "Wf[fZ[i_i^]XZ[~jaXX^hbYkW[]bYXebZiWhacv]`n_lWcmnc[T[UXWZ`a_X^ZY^QX^Qff`WZg`YScPB_Z_qRhcReXgdo"
    "cdJb_T`YYcYU`j^MO^Wc]ebQYWlgOehnYZcabXo[`S]RZ^[V`ZXZ^]^_[]`WeYbVfYY`_RiYbiUX][[a]g[`[aXXbed]b"
    "YX`dWTXWU`bdWg^UhM^aV]`VeP`ZP^]TZfY`^Ve`UcYTnfZZ`VYVdXZafWWhZgRaR]_`^`]ddegKeVhwc`ZR[jbf]eiYg"
    "_[ccnfYgP]^cci^cVU[RejUkYWjY_jaYSbabgilqZ`bj^tf_XUZdZ_b`MhWTWX]Oucf_gdYQV^[q`X^b^`[SZ`Thga|dX"
    "fV`hQXXXeQX]Ze`UcVdY]pc~i`Zc^`]oS]XX_h[k^`_dmldZYi`c[bdOTgOR^]b`VTae^UL_~P[aVa]ba[WVakW_`Y]rX"
    "eeQY[Uwr_ZZ[UY^aTb]b_WYXSPZXWW^Wfbba[f]Ua__Lw]fV[kSf^YcWVVb^^_]_X`pmN_UkXyN]_h]^`^[m]lmcdO^h]"
    "OZ[m_VaSldTSHl^b_TWhTiVZcdad`WfZ[UdcY]Z[bWfbg[Yk{^gea_U[Q`ZYV`R[_ZU]ZYZgXbXeTa`Y_Z[OZZycabUWo"
    "zcYU^hapgp]xkcUU]n_i_[bUURaY[`gXllhijYlmb[]gS`Wwod[]mj`O`]ckagf_^gkXZ_YqYil[k`aQUb`ei^Mhchn_`"
    "sbJY_g_QXUlbTVSTTbZ[PZ_^Ra[kdX`d]kbbXkfei_T[XtYh`[av^ZfiYee^ciZS_ebYcVYYRXbi]^h[Y]ZYhqa[nmc^^"
    "od^dVWXSX]^_cRYhc[]bZ[RcZVL[QWeYVke`Wgi`aecdVcSfYadknYcXX_kW`ZhW`X`bal[ag[hbf`VdTUVavZ_]l_[ld"
    "bg[Y`[n_[YeaV_]dj^fZV[_hd^^jc^fXSdcw[bcZdfeVgQ`QTgbUjX]g]YbV_adWd_hXY^eWU^X[Z`XcYW[pb^oYWc]^T"
    "]_^aZ~RZudauUe_[[dR]VPaWV]XXZa[[RWZg[[b[Wba`_Vab_`ckZqQZiW_Wbia_^W[`[XUNZoTJbUWZl^Y]eceeWfdVk"
    "]aac]]]]a`W^eYr^cTbdg_YcfS[VeUZY[U`^R_iav]fk]spQ^cTdWbbYSo]Ya_UPaZdf^Ucmi^W_YXdkV_][k[YXXZvZ["
    "]e``RUaYOZZRWfTadZccK_tc]ihgNaYUP_o[O_Sgc[ZYZXa[Y]dj_`fVYaSae^ZRXSdWT_W`fgW_a`[_VZTq`_gk]cTgX"
    "rcY`dW`oSW^ZgZXi]paTTZVVShoN][uY[Y^[YoVS~ZYinWr^^idYSWTiS_fXUgpXjUFf]lPXcfmaQiSVzdh[d[cacaXb`"
    "f[hr]N`rYVedZYP`XcZa]XeWZd``_XtifYsqPk[[[_XiaX]c=Zf]`iUbj[bfX_[_ZfeMRQ^SgWX]XigfPmceZ[saX`tRQ"
    "[bjYag_[Y`djlkYS[]jecV]oPXIY`iFdraZZibagdVb_`bYXUWRj_YY[dZiV_^UfhkZZ_^]MWU`acZ^l]cd`djdggZemi"
    "fb_efbi_]VUdTVQbiZPX^QghY_XUi`unS^`aNyxpZcZeOq`W_[dgZc^piXecZ`aaTRZUUXod_fVUS^ZHcWm^VjbNhe_T["
    "ccZ^eVfcOmUa[SZWZVXUk^g`kSQd[af`XfV__ZdX_hbmd[dgW`i_b^enZTWTkUWVWYYY_cZV_adZ[]bac`qhUg]^fYScX"
    "ZifUmcV]ZgbZfc]^bYYd]rVV[W^^qobgXWi^aWlZ`pTa^[T[b^nS[[blcfc^]caQUfoYeaf]cZgT]WaY__^Z_giakFm`Y"
    "b]c`OVoYfXXRcr^[XZT^XcXXdJbcUkfYd]Wo[T[`WgcZkX_afW[YkZ[Znf`aW_SMSo[`lXb]T[NdadYdfcZ_bWgSgXVfb"
    "_Za]^od`c]b`bZ~gKZaXbVfOUNhU]c^TfUWjh^^}Za`]ZcubQ_q_RXRR[Ud_Z[Z_TlTH^TVTypZXVbe]R`^ZcX_`f^TZW"
    "oc]ZYkfWXf`UfZWiaaaah[^LNZ^abb_ablNa[t_hTVRg__[a_X]b[U_fhoTZ__SPXfS[Uch[cZ_[bY^exljbZlgZgxfPp"
    "q`XeN_cSThPV_Kc`j_^^Zh]_Z[^aZbU`bRZXkm^garY_PTpc^bc^`YdVZbeY[Z]Zg_OdmTafbT_fU[Tfr[]]YX_VY^^`m"
    "c[Zhjd]bZb]cZXabgjR[Q[da[^R^jb`gdab^[Y^eXat_kgdOb`^Z@b`[mX[aSb[iUZYYVVSZZaY`XY_XeeV`dVd]Yb_[a"
    "VZbP^d^YVb`[YTP]VgY`YkWg]_V`X`]]g^YZkQZf[iaa_Zf^gT^`YPi]cr]bRNVSNXabacY_Y[jWXbcWgncb`^cW[_rZl"
    "Z[ad^`qZ[cXZ]]^TZZYZ`UM[UO]aWW``Wdd[W`a`fflP_nVOnZUbgYZdbW[^gX[iXZ^OcZU`QZcgWU[{]]ldgoaP[^`]d"
    "a]c__esXYiRQlaVTYVZZab^fa`v[ZXXhaldkVaXXbbUdWWTfru^]ke_iXYZZgXbVTbaTc_c__RdbdhVca]fj`ncIob]i]"
    "_bHdjb[f[hakZcefd[ho]]Ze`Q[bcXW_f[Ya[`ecO`^]adPi]Zdi[XYYYadZ[WSb[Q[b^g]VXXcVOnVtg[hZ`[l`cpc]_"
    "Z_WaigVbhZlbb_NX]TYfW`^ff]Q^UgfXYlW^YKacW]aVYX]b[NhjUlTUheYXcS[U_eha[[ZbTeeX`]bXdSTxpdUiYVYco"
    "w[[c[`TRaaV]`VpeeUbe]Zalevg]YZ_K[bafb]etecTfXiSZReag_]pn`UU^UVe[[`SZaX[Q`]cfeXbVid]eQcQw^]Z[`"
    "zgS[XVk]zkdWTln^^WKY_b]PUXcSY]^]cfXXfa^ZRh]d]aNcfQ]eUWmbZ^[ZYajubYVY`hZXdXd`Xea]cbepoiabecZ^b"
    "aaYbdV`]_UdVh]^X[_gVXeXk^dt]NmYhZafafW^PZkXm_ibe_hYdjb`ca_dSgc`bXXdQY^^VW]Hai[]Zb[jcc`Z[YTdMc"
    "^`YbuRc]TZV_f]Zg]TXhdXjZf`e`TTVcekggefmcbQozjae`^WfTXcYVXTeW``X]gUZ_kZ[[`gPZSagT[]`hY`bbRifYf"
    "Za`X`Y[KPgXcYbWcZb^YcbRke`OY^bWem~`Za]^a^^S`edldTXZb`ak^SXnupihbUgaPPfZoYim_Y`aZ[rk^eWcik^]]_"
    "TYaZ^jZZ^jg[mQiLeUW_d^aTeZQ]fWfc]f]VpTOgUPk[~lgUcZZeY^hWdXd`XbhcTdYc`au^QaO^[SePZidVU]aZZ`d[Z"
    "h`UXhjdMdZcYb_[b^WXm^abb]KagUfx]dcYh`k]`RsknVa^g`Wm`_Re[_`^OUS`Y^b]N]^Vd`^YWdfjjo_cc[ahdke]cQ"
    "cYY_dOpXb^bbXda``ZU]fra_ac`^ZX^l{XUXblaXpTg_^Vh_[g[`hL^XeW`SaZg^cVS[[ecVXfhXvdajXgYs`bc]]afr]"
    "`R`caoegaZ^iU^KfWXXXZi[aeZQZ_cka]cbY^Ui_Wu^ViJW_i`dY[We^ja]^Zcl]o_YSlkPhM]ZpU[f^ZaajbYQh^g_eW"
    "T[bhTinkegVXZad^b`f~XY[cTZe_[mfsX[^P_[UZoWf_Rfw^V[efUgUZeXZZTTNUYWT]Rd[aQdQQkUeJ[ibydbSdiXo`V"
    "g[keYf`_fTpYS^V`Z]gaVPU`d_ZkbYlX][ZZQkY``k[`go]OU_XhdZYWVP`ZhtYgY]`XiZQa`^VbSSnTOXvaRf[VIrf]X"
    "_R[gV_[[ZaZVg`TX[_ZW^Vd^[f[]`d[qZ__`Nf`Ra]XbfnebTcV[g^[afU]T]dk`l`YfO]h_geR[Tf^h]hVZUbZb^aSb]"
    "T]Wbl_`kXZS`VaaYJXYo[W[`_SYQoW]hZXXd]hloZ_dVOX_a_bPZUY[d^qrgTXaShUehVdZn[V^LV][Pe`X_eZc^[kbXY"
    "[]bW`aIcsbPd[[daeb^`bbkaZl`S_`~[eaaaVa_]Wg_b^Y_Z^`flbTiYhUjhLU[hc_aRRVW^Xmc]diYVY`dYm`]aQchY`"
    "UU[TaXR^ceW`UYVVX_U`d_aSr`[]_PQhTScp[`bkh_eWYbidjkm[[`c`TbXS_[Wc[ZdU[ke^[]j`jVm_dZQXgcVidbd_["
    "XcYZ[s[q[iXbbgb_]RcZW^WbaQ`]a]qddedhk`fcabZ_Zm[`Z_]^b[[WbU[Zcj^TZU]Xc[cZ]Y_Wxc^XaWcoTsYW]U`Vj"
    "_geMWTb_SSj[WgYWbkZeQmoh`TUcXTOXgXcWcScX`fce[fn]d]aXcHVmaY`b^[UPRdjY]RdZY`]R_c^XXa_g`Zkp[`PT]"
    "WVS^a~_RZTa]YXRdZSUkVeUPuaiaV`eYY[NrTNqXagiQf[jFVT[_cVUYUabfaUoZQl]S]SaOWcadWfWelhU_c__naXZ`o"
    "bYhv]fb[XYSZTj[ZZhYibZT`WbaPVReX[sgtjaNpXRSbQ`fhyWdc^jo_RmQ[y]^bYUTZYUfZ]cV`Z_^T^gXRtwogYkh`Y"
    "lcU^[aUZfqcT_ZcY`^b]_XX`ZUekfUcj^cThdl[[Zhh[^aVYaZegUXa`veV^eQ]o[T[jQfZZjUXTlajgZ`a`ZKbh`fkeb"
    "bZl`_Xuc`]]V[ST[p[Q]f`eYZS[VgmYjYahc`fXb^eQd^TVW`jXW`]dfea[^b[j]WgZ`[gWddc_[KZ^nfYi`_^jbliZ_h"
    "l_[hW|V`ehYcakY]ZY`f^bTfg__iX]Tbdl`oeZ]Yct[SN[WYa`gYUZnYXST_e[X]TO_Xt_XdXV^dYg`T[PoR`owZSbYYd"
    "fWrjdUSbX`mm_`XY]]_Re[_h^^b_kYd_ca]Z`YWVOYSccNZh`YbQ_ec_eXcdYJf`NXv[fQa_WUd^Xc`gajTl_^Vz]UVfY"
    "_cbvWlV^NTPaa]fVU^i__UT^ZXQb]XeYVY^`^iYeYXjYMUgPfQnU^a`c__^]`aY``SY[]RYXsmkgt]bd_a[_abcZiXYj^"
    "L`eo[XhWblU_okWbZYTVU[WrjSWW^Xh`da~_la^bXbmp`osYP[Qn[VYbX][UiUob^T^bcYha_U^OR`ZW``nYVmctVdbba"
    "[n_ih[_ZeXbc]fgVi[hbg[WXhJiecJble[Sj[V][^l^_d^jd`dYYeU_la]]RVfbZd_^Wb]Z^b_S_^ae]i_qhhZca[piZU"
    "m`[WWg``ZXZZ^YT__]^_TdTSSQaXg^dW`]SO]frcWXh^atbdUodcTg]X]i^U]Sc^bcaRYfig`aX]ZY^dPYTmTb^S`eNQf"
    "]^`feehjS[VlflhRScN^cWdhb[]^Ym`^R~nYcV_I]ZTYT[WPbYaiWfXVZbZUVilRbm[`]UUT^aUfX_b]Uc[S^bmWfVh]d"
    "kV[`Wm_f[a[eW_QY[gU[_ZgYYc_UsejhlWrUWc`gbfZh[[iufphbMZ_ORaPXg_]]aYfbZdY^hXgpZV`Wv^iX_dca^jbek"
    "VdZZe]ZZOnTWY[gTUZUT]SKbadtYmhzdmTf]_lc_bd_bU[WR[j_ZcbehXPY]aZiSdVadR_e_gWigl^X_lV]lg`j_cU[nc"
    "dkeeg_X_Wa_e`[nZ_Wq[YUZUhVX`d^[]`ac[ReXpZk^j`jcQUajSYIQh^[ZPkSVdcTiTS]bVbXigYl[aYabZZhPgThZW]"
    "]fhWgi^S``Wf[`labXU[^h[wcZma[`Lbka]^SXhZUUX``dUb`ehZddXZVgaejT[dWRN^bWXf`UecTYeOdOdqd]cecb`h^"
    "b[S_ZeZnhd]aPQS_hfVU]W][[Y[RQN^dogq`nTUiXRsXehXRe^]zTTf`_ah`V[a^VYVXd^f^X__`WcnVWkdiiheahlecg"
    "YZY^^]cbZi^Z_dQf]Xa`fW`chVZieRU_^je]hZcgdkXi^SbWVGPTTXf^_SU^T[T^]iLW^[Y]`[rXkiQRbUdXqc_Zeiwf^"
    "XbXccbbTdWe]c[ie`[bQj_[Vgl]Z_XZ]wZZ`]YbaXXZZ_][[Yi`keXZhUOZ`eUFYaQ`bdRYU^aeTTVTe^nb_ZZmXbclWN"
    "]~mUaL[aXZ]cPW^RYU]dY]SVZW|ea][Up`ZfZZi`_gZbmjalZ`RQ[h^V]Ve`aY[Wh^mmccap[]sdfUYbJiZZRXff[dXdp"
    "cdY^_[ghk[bq]^hdWgjn[aXa]aiV^b^dVaf]__odUMgvWUbchW_RYYbSWQbT[e_TX[Nj]_iZ^dTaeZd`XUX[V`Wg^TiRY"
    "cmZidVSS]gT^cbXa`a[_^X`_v^__b^ad`XaWmG[Z]XXO_WZdihdQ[`ZRgajRXSYa^[aY[_[eh[^v^^gZVW`^Ui]`ZkhWV"
    "QU^]C`]o[paY]SWTVTcYgXYga^ZYY`b]bZLbXbU[ccWlc[YZQ^TRqO^hdabiV`a]`]WbZYeh[fR[Wj^h`]V^ccZ_iQV[f"
    "dnpVrUhf__gUShSZcknTVU^aZcdcr[XfZ]^kY`S`Y[c_YWo[cVQY][]UbT[VVXbbURZK^UZ]U_bTubg[saRjZcwd[_T]h"
    "vMjeXY_bejbd]aXX`abcsSYY_c`fX^[ae]d^_WhZacf_bdag^ad^bdPzYeXtbXZ]bYS[bLc]lXVebdWhiYRVcdc``Zta["
    "W_]e^eaWWpfdX_^cfMTgYZY^WUZndYaadcoNZ_dY^WdY]gUZp_ce`d[kW`]ebiL_jaffORVf^hXdYcadZ~damoZYdchX`"
    "[ZXhZ]c[ckgWjkZ^dcV`]gRTbW[UbZ__P_Yf=U`^m_b[jcidY`X_j_aYUaTVYTYaT]fOZPhh_V]bcT`c_XqVW]]YfZ[_]"
    "TpadeTVYYkh_WlcjaSVdTiigk^Fbcxan^T[b_kRZ`h]nSeaZVVTe^iar[ZcXYqf^b[cZZWOW__UQfYg_hYVdbmm]Wm]hW"
    "WhdmW`[[HXX_^g^Y^X]mTXPaaVi`Yf^hU^X[ds^]TeiZk_ReXa`XTVbU[`^Pa^bc`adlt]c`gf[a[jbalsXe[Wa_T__ad"
    "a`_bZ_V[aQhfZXhOVqY^rY_aT`Zg_]Xl[YYZ^cgiiO_dal[vZ[eX]VPZnVSKZbYT^dTIVegTXmU`]UVWe_k_XaZ`a][S`"
    "nRQm`_onjabZm^`[d^Xt_YWaZf[h_kV^QjadYb```j_a`dbc[X[jccllvfXVcU^ZTXSWg[ZZcT]aeeapegQfaT[S_icza"
    "`[ff{XXVW][]_V^ccWWWVU]_PdWZd]N^YaaR^a_]kaVl]didxZX_c]_cuQ^aV`Ve_ybQ^`pljaq_igVP[Wds]WX]XkYcb"
    "^ka`ZX_aYWbZTl]VWOThXff`rXX_TXq`jrXn[jWNZ`QX_P`wW[kpevbSZYeS]XSZRWb]b[YugXh]Q^oVibQca_ji`l]Uf"
    "qYmWSdVRZc[Y`Vlb_[T`bYdjWhYZZd]Z`UhZeb`Zdo__[`dZf`[Y__`be[XVYaTUedYkbTbc]MNaU`k^f]]ljepWga`eX"
    "k[[YTXUcZe]V[hd_Sib`YUe]mgUb_TZ[WgU``rNa^WeZeiQZqNX]V`jPTi]PNZ]]`jbffke_g~ahgW^daXbaj`gYa]^dW"
    "vjWaRU`ae`[X_]_XY^fZg`YiiXXYZV`log^aiZUb_[`fX_ae`cX^aUgeYeP]bU[]YXb][[Vb`b_b[XZW_XncficUgrWVa"
    "flUdsobs`V_O]ZcdsaWmjPaWbVx^Ybcld`ig_U]abNbkfZU]Y}b_]iY][eaUhebXZYnQ]^_ZWVZY[l_NSj^hgWGibh]dW"
    "LYUWWM_WgheQVS]^ZV_Y]a`aaUXaaY]gk[ujQUdd_iaXa]S``V^`Zb^_UcbSaa^yb]a[d[`_gXijW_`YblaZlgWasmWD_"
    "VUhZY[VQkZaaR]P]V[WjZjWneSeTTvXj[iabeUe_cf_bZaZYTff`YgdVd]]T[TcR[g^eXTf][ZXadYm[WcXPc`WaXPr]T"
    "aVUThfR]QpWsi_`^WcYVfS]eNaa]e__Oj]q^`Wm[]f]a]e`Ze[af`WcTXWecftUVVWYJQh^`X^[_WXbj`mibiag`jbbjS"
    "ZPSXcUiV^cXTiVYXVcdcxbbXS]]UYZWYY_Y^ZmnWb]clp`__]_]ecVVj]bYLPbim[hZ[VrX]aZIccbX_YN`bV`][Va[^i"
    "dad_eWb^gkfY[h`Y]cdlU]YW]`^ekU]`[c^k`X]g^yfb[[WWbYeYVca]d_V[]^aZh^aZTWnQbU^sY`k[Y[]f_UicV`^X]"
    "f_]_atTVbi]`a[Q^b`d_V^X]pl_V_lj_VTahhUXb`[ejk]YSXWeW`_VgbXNY]_Ucbn[Tb[Wg]XY]]Qj^[^flYkZh]FZU["
    "[`[kZWQWUd[US]WS^bYeYe[ZXSP_jWaiY`cXiYXk[me[[p[eiTU_XYe`^]lUa]^mZ_bhUkQeZj]kZWaeXcVY^h[d_aOZ["
    "_fVelXdfVVTakPNZS^^^PUdVjcNY]]aai[_We`dUX^c[_[^bYRUjgX~]YSZcWdYXSZdSYS``Z]kQdaXaZkfiN_uZeNgb^"
    "cVSyZiWgdi]dTk`_cYXwjUP_X`ST[^ZaQZk`Wcgj[_`[abmbjdR`ZS^a]Zia^yTpVdd]Qbga]|_Y]VMfgU^ef^NbUNX^c"
    "ah[_cdY]OXe^VUWVjWW_S[aWY^`cXRc`[[XdcXU_fcTVk`XcYYcYbi^dlZ_hZZd[VaR`UXYcH]PS_bafteZbd]ggi^Qa["
    "^TWNbccUl[Y^`Ue^WafcWYc^XWZSjoT`afVibomu`icjafhYR]]]aXYeg^k`]X^YcfMfYkgZ`t^OSbfgWl__eJW_YWia`"
    "j]^d^Z^^XePfihya[h`T^b_c`Q]ir^TdYZeZ`XjfbbjY]Xl]bebdi[ib`[hSbRcgc_TWNaYO`[XUTU]XZ`fbm~gYepZVZ"
    "ia[X]PPaUaXgXSiZRU`a][``Uh]T[dSfc[S`[bSZk]Xkchc[N^Zfc[[e[U[gTW`WhWapaWibf_]UTgl]]U[ZPdvYigRi["
    "_SbfjYQ]XbIZfYha^al]^VYRUXUeoeZdi]lqc]lbYaZeYZXlUWoUZQ_[VPac^g`Z^[^ceXXf^XweWVYSeZ[Y[Uh[i`Vbf"
    "WXcV`mu^bZgsV]a^j_S]_Zfkpe^SYqp_V`_d_"
)
FRAGMENTS: Final[tuple[float, ...]] = tuple(map(_WEIGHTS.__getitem__, _FRAGMENTS))
